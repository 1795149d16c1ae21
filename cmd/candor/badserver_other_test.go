//go:build !unix

package main

// serveBadly does nothing where the bad server cannot be built; the scripts that need it are skipped.
func serveBadly() {}
