"""What scripts/setup-postfix and scripts/setup-sendmail are made of: Python and the mail server's programs.

    changes   a set of files to be changed: shown, put in place with a backup, taken back
    command   the command line that both scripts share
    milters   the order of milters: those whose results Bloomgate reads, Bloomgate, the spam check
    postfix   what a recipe of config/mta means for a given configuration of Postfix
    sendmail  the same for Sendmail
"""
