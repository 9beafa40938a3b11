module example.test/pipeline

go 1.18
