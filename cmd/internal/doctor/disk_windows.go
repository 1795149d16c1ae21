package doctor

import (
	"path/filepath"

	"golang.org/x/sys/windows"
)

func diskOf(dir string) (disk, error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return disk{}, err
	}
	var d disk
	if err := windows.GetDiskFreeSpaceEx(name, &d.free, nil, nil); err != nil {
		return disk{}, err
	}
	volume, err := windows.UTF16PtrFromString(filepath.VolumeName(dir) + `\`)
	if err == nil && windows.GetDriveType(volume) == windows.DRIVE_REMOTE {
		d.share = "a network drive"
	}
	return d, nil
}
