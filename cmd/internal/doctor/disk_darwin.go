package doctor

import "golang.org/x/sys/unix"

func diskOf(dir string) (disk, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return disk{}, err
	}
	d := disk{free: s.Bavail * uint64(s.Bsize)}
	if s.Flags&unix.MNT_LOCAL == 0 {
		d.share = unix.ByteSliceToString(s.Fstypename[:])
	}
	return d, nil
}
