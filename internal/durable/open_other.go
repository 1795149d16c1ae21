//go:build !unix

package durable

const nonBlocking = 0
