//go:build !unix

package main

// serveBadly and serveShop do nothing where the tests that need them are skipped.
func serveBadly() {}
func serveShop()  {}
