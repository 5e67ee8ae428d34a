# A user has moved a message into Junk.
require ["copy", "environment", "imapsieve", "variables", "vnd.dovecot.pipe"];

if environment :matches "imap.user" "*" {
  pipe :copy :try "bloomgate-moved" ["junk", "${1}"];
}
