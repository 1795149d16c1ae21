//go:build !unix

package pgtest
