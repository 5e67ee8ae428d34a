"""What scripts/setup-postfix and scripts/setup-sendmail are made of: Python and the mail server's programs.

    changes         a set of files to change: shows the change, makes it with a backup, takes it back
    edits           the pieces that are put in, each of which can be taken out again, and listed
    command         the command line that both scripts share
    milters         the order of milters: those whose results Bloomgate reads, Bloomgate, the spam check
    postfix         what a recipe of config/mta means for a given configuration of Postfix
    postfix_recipe  the recipe's files, with this server's addresses
    postfix_reading what postconf finds in a configuration, for the doctor, too
    postfix_text    main.cf and master.cf, changed in place
    sendmail        what a recipe means for a given configuration of Sendmail
    other_programs  what it means for rspamd, SpamAssassin and Bloomgate
    machine         groups, sockets and services
"""
