package readme_test

import (
	"errors"
	"image/png"
	"os"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/testing/readme"
	"github.com/candor-mcp/candor/internal/testing/testbinary"
)

const advice = "; run make readme"

var candor string

func TestMain(m *testing.M) { os.Exit(testbinary.Run(m, false, &candor)) }

func repository() readme.Repository { return readme.Repository{Dir: "../../../..", Candor: candor} }

func TestReadmeShowsTheProgramsOutput(t *testing.T) {
	page, err := os.ReadFile("../../../../" + readme.PagePath)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"<!-- call: alone ", "<!-- call: through ", "<!-- figures -->", "<!-- /figures -->", "](" + readme.ReportPicture + ")", "](" + readme.ConsolePicture + ")"} {
		if !strings.Contains(string(page), part) {
			t.Errorf("README.md: %s is missing", part)
		}
	}
	want, err := repository().Render(t.Context(), string(page))
	if err != nil {
		t.Fatal(err)
	}
	if want != string(page) {
		t.Errorf("README.md is stale%s\n%s", advice, firstDifference(string(page), want))
	}
}

func firstDifference(page, want string) string {
	have, now := strings.Split(page, "\n"), strings.Split(want, "\n")
	for i := range min(len(have), len(now)) {
		if have[i] != now[i] {
			return "the page has:    " + have[i] + "\nthe program has: " + now[i]
		}
	}
	return "one of them is longer"
}

func TestPictureShowsThePresentReport(t *testing.T) {
	report, err := repository().Report(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	checkPicture(t, readme.ReportPicture, report)
}

func TestPictureShowsThePresentConsole(t *testing.T) {
	console, err := repository().OpenConsole(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer console.Close()
	checkPicture(t, readme.ConsolePicture, console.Page)
}

// checkPicture checks that a picture was taken of this page.
func checkPicture(t *testing.T, path string, page []byte) {
	t.Helper()
	current, err := repository().PictureIsCurrent(path, page)
	if err != nil {
		t.Fatal(err)
	}
	if !current {
		t.Errorf("%s is older than its page, or was changed%s", path, advice)
	}
	f, err := os.Open("../../../../" + path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err != nil || info.Size() > readme.MaxPicture {
		t.Errorf("%s: %d bytes, want at most %d (%v)", path, info.Size(), readme.MaxPicture, err)
	}
	if _, err := png.DecodeConfig(f); err != nil {
		t.Error(err)
	}
}

func TestContextFiguresMatchTheRecordings(t *testing.T) {
	now, err := readme.MeasureContext()
	if errors.Is(err, readme.ErrNoRecordings) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	stored, err := repository().Figures()
	if err != nil {
		t.Fatal(err)
	}
	if stored.Context != now {
		t.Errorf("the figures are stale%s\nstored:   %+v\nmeasured: %+v", advice, stored.Context, now)
	}
}
