package candor

//go:generate go run ./internal/catalogue/gen
