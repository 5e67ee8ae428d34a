# A user has moved a message out of Junk, into the inbox; what goes to Trash teaches nothing.
require ["copy", "environment", "imapsieve", "variables", "vnd.dovecot.pipe"];

if environment :is "imap.mailbox" "INBOX" {
  if environment :matches "imap.user" "*" {
    pipe :copy :try "bloomgate-moved" ["inbox", "${1}"];
  }
}
