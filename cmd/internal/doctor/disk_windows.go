package doctor

import "golang.org/x/sys/windows"

// FreeBytes returns the space that is left for this process on the disk of a folder.
func FreeBytes(dir string) (free uint64, err error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	return free, windows.GetDiskFreeSpaceEx(name, &free, nil, nil)
}
