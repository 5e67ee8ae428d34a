"""What scripts/setup-postfix and scripts/setup-sendmail are made of: Python and the mail server's programs.

    changes   a set of files to change: shows the change, makes it with a backup, takes it back
    command   the command line that both scripts share
    milters   the order of milters: those whose results Bloomgate reads, Bloomgate, the spam check
    postfix   what a recipe of config/mta means for a given configuration of Postfix
    sendmail  the same for Sendmail
"""
