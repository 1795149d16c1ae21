//go:build !portableguard

package guard

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Confinable reports which parts of a [Confinement] this system can enforce: the list of files needs Landlock (Linux 5.13), and
// the other parts need a seccomp filter for this architecture.
func Confinable() (files, calls bool) {
	return landlockVersion() > 0, filterable()
}

// confine confines the calling thread, as far as the system can. It must be the thread that executes the command.
// LimitMemory is called after the last allocation, and before limits can no longer be set.
func confine(c Confinement, command image, limitMemory func() error) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("giving up new privileges: %w", err)
	}
	if version := landlockVersion(); version > 0 {
		if err := restrictFiles(c, version); err != nil {
			return fmt.Errorf("restricting files: %w", err)
		}
	}
	if !filterable() {
		return limitMemory()
	}
	var only *byte
	if c.Alone {
		only = command.path
	}
	program := filter(architectures[runtime.GOARCH], os.Getpid(), only)
	if err := limitMemory(); err != nil {
		return err
	}
	if err := restrictCalls(program); err != nil {
		return fmt.Errorf("restricting system calls: %w", err)
	}
	return nil
}

// landlockVersion returns the version of the Landlock ABI, or 0 if the kernel does not support it or has disabled it.
func landlockVersion() int {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(version)
}

// Access rights to files. A rule for a file may name only those of rightsOfFile.
const (
	rightsToRead = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	rightsToRun  = unix.LANDLOCK_ACCESS_FS_EXECUTE | rightsToRead
	rightsOfFile = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	rightsToWrite = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_DIR |
		unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_REFER | unix.LANDLOCK_ACCESS_FS_TRUNCATE
)

// handledRights returns the rights that a version of Landlock denies unless a rule grants them.
func handledRights(version int) uint64 {
	rights := uint64(1<<13 - 1) // version 1: all up to LANDLOCK_ACCESS_FS_MAKE_SYM
	if version >= 2 {
		rights |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if version >= 3 {
		rights |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if version >= 5 {
		rights |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	return rights
}

// restrictFiles restricts the calling thread to the files of c.
func restrictFiles(c Confinement, version int) error {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: handledRights(version)}
	// Only the first field is passed, because later versions added the others.
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr.Handled_access_fs), 0) //nolint:gosec // the kernel takes its address
	if errno != 0 {
		return errno
	}
	rules := int(fd)
	defer func() { _ = unix.Close(rules) }()
	for rights, paths := range map[uint64][]string{rightsToRead: c.Read, rightsToRun: c.Run, rightsToWrite: c.Write} {
		for _, path := range paths {
			err := addRule(rules, path, rights&attr.Handled_access_fs)
			if err != nil && (rights == rightsToWrite || !errors.Is(err, os.ErrNotExist)) {
				return err
			}
		}
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(rules), 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// addRule grants rights on path and everything below it.
func addRule(rules int, path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer func() { _ = unix.Close(fd) }()
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return &os.PathError{Op: "stat", Path: path, Err: err}
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= rightsOfFile
	}
	attr := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}                                                                 //nolint:gosec // file descriptors are small
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(rules), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&attr)), 0, 0, 0) //nolint:gosec // the kernel takes its address
	if errno != 0 {
		return &os.PathError{Op: "allow", Path: path, Err: errno}
	}
	return nil
}
