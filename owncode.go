package candor

import (
	"reflect"
	"strconv"
	"syscall"
)

// The ways in which error types of other systems carry a code.
type (
	textCoded interface{ ErrorCode() string }
	textCode  interface{ Code() string }
	textApp   interface{ AppCode() string }
	intCoded  interface{ ErrorCode() int }
	intCode   interface{ Code() int }
	intApp    interface{ AppCode() int }
)

// leastNumber is the least number that is taken for one of the taxonomy: below it are exit and HTTP statuses.
const leastNumber = 1000

// carriedBy returns the registered code that one error carries by itself, by symbol or by number.
func carriedBy(err error) (Code, bool) {
	symbol, number := ownCode(err)
	if c, ok := LookupSymbol(symbol); ok {
		return c, true
	}
	if number < leastNumber {
		return Code{}, false
	}
	return LookupNumber(number)
}

// ownCodeText returns the code that one error carries by itself as a text, or "".
func ownCodeText(err error) string {
	symbol, number := ownCode(err)
	if symbol == "" && number != 0 {
		return strconv.Itoa(number)
	}
	return symbol
}

// ownCode returns the code that one error carries by itself, as a symbol or as a number. A method that panics has none.
func ownCode(err error) (symbol string, number int) {
	switch v := any(err).(type) {
	case *Error:
		return v.code.Symbol(), 0
	case syscall.Errno:
		return errnoName(v), 0
	case textCoded:
		guard(func() { symbol = v.ErrorCode() })
	case textCode:
		guard(func() { symbol = v.Code() })
	case textApp:
		guard(func() { symbol = v.AppCode() })
	case intCoded:
		guard(func() { number = v.ErrorCode() })
	case intCode:
		guard(func() { number = v.Code() })
	case intApp:
		guard(func() { number = v.AppCode() })
	default:
		return codeField(reflect.ValueOf(err))
	}
	return symbol, number
}

// codeFields are the names under which a struct may hold its code, the most telling first.
var codeFields = [...]string{"ErrorCode", "AppCode", "Code"}

// codeField reads the code from an exported field of a struct itself; embedded ones are not searched.
func codeField(r reflect.Value) (symbol string, number int) {
	if r.Kind() == reflect.Pointer {
		r = r.Elem()
	}
	if r.Kind() != reflect.Struct || r.Type().Name() == "CloseError" { // a closed WebSocket counts from 1000 as well
		return "", 0
	}
	for _, name := range codeFields {
		f, ok := r.Type().FieldByName(name)
		if !ok || len(f.Index) != 1 || !f.IsExported() {
			continue
		}
		switch v := r.Field(f.Index[0]); {
		case v.Kind() == reflect.String && v.String() != "":
			return v.String(), 0
		case v.CanInt() && v.Int() != 0:
			return "", int(v.Int())
		case v.CanUint() && v.Uint() != 0:
			return "", int(min(v.Uint(), 1<<31-1)) //nolint:gosec // bounded
		}
	}
	return "", 0
}
