module example.test/span

go 1.18
