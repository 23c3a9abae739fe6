"""People's decisions about single records: conf/ledger/<benchmark>.yaml."""
