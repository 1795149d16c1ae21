//go:build !linux

package kaiza_test

func asLauncher() {}
