module perbyte

go 1.24
