//go:build !linux

package term

func hideEnviron() {}
