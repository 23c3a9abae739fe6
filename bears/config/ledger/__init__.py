"""What persons decided about single records: conf/ledger/<benchmark>.yaml."""
