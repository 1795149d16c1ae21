package readme

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/testing/chromium"
)

// MaxPicture is the largest picture that the repository should hold, in bytes.
const MaxPicture = 200_000

// Report returns the page that candor probe writes for the recorded run. It depends only on the recording and on the program.
func (r Repository) Report(ctx context.Context) ([]byte, error) {
	cmd := exec.CommandContext(ctx, r.Candor, "probe", "--run", r.path(runPath), "--format", "html", "--fail-on", "never")
	page, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("reporting on %s: %w", runPath, err)
	}
	return page, nil
}

// PictureIsCurrent reports whether the picture was taken of this page.
func (r Repository) PictureIsCurrent(path string, page []byte) (bool, error) {
	stored, err := os.ReadFile(r.path(hashPath(path)))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	picture, err := os.ReadFile(r.path(path))
	if err != nil {
		return false, err
	}
	return string(stored) == hashes(path, page, picture), nil
}

// hashPath is the path of the file that connects a picture with its page.
func hashPath(picture string) string { return strings.TrimSuffix(picture, ".png") + ".sha256" }

func hashes(path string, page, picture []byte) string {
	return fmt.Sprintf("%s  page\n%s  %s\n", hash(page), hash(picture), filepath.Base(path))
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// PictureReport opens the report in a browser and writes its picture.
func (r Repository) PictureReport(ctx context.Context, report []byte) error {
	dir, err := os.MkdirTemp("", "candor-readme-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	page := filepath.Join(dir, "report.html")
	if err := os.WriteFile(page, report, 0o600); err != nil {
		return err
	}
	return r.TakePicture(ctx, ReportPicture, (&url.URL{Scheme: "file", Path: page}).String(), report)
}

// TakePicture opens an address in a browser and writes the picture and its hashes. The page is what the picture depends on.
func (r Repository) TakePicture(ctx context.Context, path, address string, page []byte) error {
	browser, ok := chromium.Find()
	if !ok {
		return errors.New("no browser on the PATH; install Chromium or Chrome")
	}
	picture, err := screenshot(ctx, browser, address)
	if err != nil {
		return fmt.Errorf("taking the picture: %w", err)
	}
	if len(picture) > MaxPicture {
		return fmt.Errorf("taking the picture: it has %d bytes, more than %d", len(picture), MaxPicture)
	}
	if err := os.MkdirAll(filepath.Dir(r.path(path)), 0o755); err != nil { //nolint:gosec // a folder of the repository
		return err
	}
	if err := os.WriteFile(r.path(path), picture, 0o644); err != nil { //nolint:gosec // a file of the repository
		return err
	}
	return os.WriteFile(r.path(hashPath(path)), []byte(hashes(path, page, picture)), 0o644) //nolint:gosec // a file of the repository
}
