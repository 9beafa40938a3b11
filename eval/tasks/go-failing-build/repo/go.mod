module example.test/kv

go 1.18
