// Package smalldisk runs the commands of a test on a disk that is small enough to fill. It works on Linux only.
package smalldisk
