package storage

import (
	"os"
	"syscall"
	"unsafe"
)

var getDiskFreeSpaceEx = syscall.NewLazyDLL("kernel32.dll").NewProc("GetDiskFreeSpaceExW")

// freeSpace returns the space that the user may still use, which a quota may limit.
func freeSpace(dir string) (uint64, error) {
	name, err := syscall.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var free uint64
	ok, _, errno := getDiskFreeSpaceEx.Call(uintptr(unsafe.Pointer(name)), uintptr(unsafe.Pointer(&free)), 0, 0) //nolint:gosec // the system takes their addresses
	if ok == 0 {
		return 0, os.NewSyscallError("GetDiskFreeSpaceEx", errno)
	}
	return free, nil
}
