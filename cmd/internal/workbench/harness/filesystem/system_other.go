//go:build !unix

package filesystem

func explainSystem(err error) error { return err }
