module example.org/sample

go 1.24
