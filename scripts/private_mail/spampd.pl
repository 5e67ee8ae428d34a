# Runs Debian's spampd as our own user, with its log on standard error (it asks for the system's log, which a
# container does not have) and its home in our own folder (it distrusts a --homedir of the command line).
#   perl -T spampd.pl PROGRAM OPTION...
use strict;
use warnings;

package Net::Server::Log::Sys::Syslog;
$INC{'Net/Server/Log/Sys/Syslog.pm'} = __FILE__;
sub initialize { return sub { my ($level, $text) = @_; $text =~ s/\n?\z/\n/; print STDERR $text }; }

package main;
@ARGV = map { /\A(.*)\z/s } @ARGV;
my ($user, $group) = (scalar getpwuid($<), scalar getgrgid($());
my $program = shift @ARGV;
push @ARGV, "--user=$user", "--group=$group";
$0 = 'spampd';
do $program;
die $@ || $! unless SpamPD->can('init');
SpamPD->new()->init()->run();  # that of Debian 13 does so itself only where no other program reads it
