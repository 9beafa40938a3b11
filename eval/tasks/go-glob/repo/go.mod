module example.test/glob

go 1.18
