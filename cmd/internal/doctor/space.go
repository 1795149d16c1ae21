package doctor

// FreeBytes returns the space that is left for this process on the disk of a folder.
func FreeBytes(dir string) (uint64, error) {
	d, err := diskOf(dir)
	return d.free, err
}
