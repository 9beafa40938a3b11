module example.test/logstore

go 1.18
