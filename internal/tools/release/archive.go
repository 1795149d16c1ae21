package release

import (
	"archive/tar"
	"archive/zip"
	"compress/flate"
	"compress/gzip"
	"io"
	"time"
)

const (
	homepage = "github.com/candor-mcp/candor"
	// VersionVariable is the variable that the linker sets to the version of a release.
	VersionVariable = homepage + "/cmd/internal/cli/term.releaseVersion"

	summary = "Make MCP servers honest about failure: readable, typed, retry-aware errors, recorded before they are sent"
)

// File is a package to publish.
type File struct {
	Name    string
	Content []byte
}

// member is a file in an archive.
type member struct {
	name    string
	mode    int64
	content []byte
}

// archiveTime is the modification time of every member, so that two builds give the same bytes. npm pack writes the same time.
var archiveTime = time.Date(1985, 10, 26, 8, 15, 0, 0, time.UTC)

func writeTarGz(w io.Writer, members []member) error {
	compressed, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(compressed)
	for _, m := range members {
		header := &tar.Header{Name: m.name, Mode: m.mode, Size: int64(len(m.content)), ModTime: archiveTime, Format: tar.FormatUSTAR}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := archive.Write(m.content); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return compressed.Close()
}

func writeZip(w io.Writer, members []member) error {
	archive := zip.NewWriter(w)
	archive.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(out, flate.BestCompression)
	})
	for _, m := range members {
		header := &zip.FileHeader{Name: m.name, Method: zip.Deflate, Modified: archiveTime}
		header.CreatorVersion = 3 << 8                       // Unix, so that installers read the mode
		header.ExternalAttrs = uint32(0o100000|m.mode) << 16 //nolint:gosec // modes are constants below 0o1000
		member, err := archive.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := member.Write(m.content); err != nil {
			return err
		}
	}
	return archive.Close()
}
