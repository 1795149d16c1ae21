package yamlfile

import (
	"math"
	"strconv"
	"strings"

	"github.com/candor-mcp/candor/internal/lazyregexp"
)

var sizeForm = lazyregexp.New(`^([0-9]+(?:\.[0-9]+)?) ?([A-Za-z]+)$`)

var sizeUnits = map[string]float64{
	"b": 1, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "kb": 1e3, "mb": 1e6, "gb": 1e9,
}

// MaxSize is the largest size that [Size] returns.
const MaxSize = 1 << 50

// Size parses a number of bytes with a unit, such as 512KiB, 16MiB or 1.5GiB. Larger sizes are [MaxSize]. The error is a [*Mistake].
func Size(text string) (bytes int64, err error) {
	parts := sizeForm.FindStringSubmatch(text)
	if parts == nil && IsNumber(text) {
		return 0, NewMistake("write the unit: "+text+"B, "+text+"KiB or "+text+"MiB", "the size %s has no unit", Quote(text))
	}
	if parts == nil || sizeUnits[strings.ToLower(parts[2])] == 0 {
		return 0, NewMistake("use a size such as 512KiB, 16MiB or 1GiB", "%s is not a size", Quote(text))
	}
	number, _ := strconv.ParseFloat(parts[1], 64) // it can only be too large, and is infinite then
	return int64(min(math.Round(number*sizeUnits[strings.ToLower(parts[2])]), MaxSize)), nil
}

// IsNumber reports whether a text is a number, such as a size or a duration without its unit.
func IsNumber(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}
