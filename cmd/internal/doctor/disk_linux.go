package doctor

import "golang.org/x/sys/unix"

// shares are the types of file systems that are on another machine.
var shares = map[int64]string{
	unix.NFS_SUPER_MAGIC: "NFS", unix.SMB_SUPER_MAGIC: "SMB", unix.SMB2_SUPER_MAGIC: "SMB", unix.CIFS_SUPER_MAGIC: "SMB", unix.AFS_SUPER_MAGIC: "AFS",
	unix.CEPH_SUPER_MAGIC: "Ceph", unix.CODA_SUPER_MAGIC: "Coda", unix.NCP_SUPER_MAGIC: "NCP",
}

func diskOf(dir string) (disk, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return disk{}, err
	}
	return disk{free: s.Bavail * uint64(s.Bsize), share: shares[int64(s.Type)]}, nil //nolint:gosec,unconvert // a block size; the type differs by architecture
}
