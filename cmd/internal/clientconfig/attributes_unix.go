//go:build linux || darwin

package clientconfig

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// accessList is the attribute that holds the access control list of a file on Linux. macOS keeps its lists elsewhere.
const accessList = "system.posix_acl_access"

// copyAttributes gives to the extended attributes of from. One that the system does not allow to set is left out, such as a label of
// the system, but not the access control list: without it the mode could admit others than before.
func copyAttributes(to, from *os.File) error {
	wanted, err := attributeNames(from)
	if err != nil {
		return fmt.Errorf("reading the attributes of the file: %w", err)
	}
	for _, name := range wanted {
		value, err := attribute(from, name)
		if err == nil {
			err = unix.Fsetxattr(int(to.Fd()), name, value, 0)
		}
		if err != nil && name == accessList {
			return fmt.Errorf("keeping the access control list of the file: %w", err)
		}
	}
	has, err := attributeNames(to)
	if err != nil {
		return fmt.Errorf("reading the attributes of the new file: %w", err)
	}
	if slices.Contains(has, accessList) && !slices.Contains(wanted, accessList) { // inherited from the folder
		if err := unix.Fremovexattr(int(to.Fd()), accessList); err != nil {
			return fmt.Errorf("removing the access control list of the folder: %w", err)
		}
	}
	return nil
}

// attributeNames returns the names of the extended attributes of a file. A file system without any has none.
func attributeNames(f *os.File) ([]string, error) {
	data, err := sized(func(into []byte) (int, error) { return unix.Flistxattr(int(f.Fd()), into) })
	if errors.Is(err, unix.ENOTSUP) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for name := range bytes.SplitSeq(data, []byte{0}) {
		if len(name) > 0 {
			names = append(names, string(name))
		}
	}
	return names, nil
}

func attribute(f *os.File, name string) ([]byte, error) {
	return sized(func(into []byte) (int, error) { return unix.Fgetxattr(int(f.Fd()), name, into) })
}

// maxAttribute bounds the bytes of an attribute and of the list of names. Linux allows 64 KiB.
const maxAttribute = 1 << 20

// sized calls a function that returns the size of a value if its buffer is empty, and again with a buffer.
func sized(read func([]byte) (int, error)) ([]byte, error) {
	for {
		n, err := read(nil)
		if err != nil || n == 0 {
			return nil, err
		}
		if n > maxAttribute {
			return nil, unix.E2BIG
		}
		buffer := make([]byte, n)
		n, err = read(buffer)
		if errors.Is(err, unix.ERANGE) { // it has grown
			continue
		}
		if err != nil {
			return nil, err
		}
		return buffer[:n], nil
	}
}
