package candor

// Class says what a caller should do about a failure. It is a closed set: a client that
// knows these thirteen words can act on any error, including one whose code it has never seen.
type Class string

// The classes, each with the action it asks for.
const (
	ClassBadRequest   Class = "bad_request"  // fix the call
	ClassNotFound     Class = "not_found"    // name something that exists
	ClassDenied       Class = "denied"       // get permission
	ClassConflict     Class = "conflict"     // read again, then redo
	ClassPrecondition Class = "precondition" // do something else first
	ClassRateLimited  Class = "rate_limited" // wait
	ClassUnavailable  Class = "unavailable"  // the service is away
	ClassTimeout      Class = "timeout"      // no answer in time
	ClassCancelled    Class = "cancelled"    // somebody called it off
	ClassTooLarge     Class = "too_large"    // send less
	ClassUnsupported  Class = "unsupported"  // not offered here
	ClassCorrupt      Class = "corrupt"      // stop, the state is damaged
	ClassInternal     Class = "internal"     // report it
)

// Classes returns the closed set in the order of the written contract.
// The caller owns the slice.
func Classes() []Class {
	return []Class{
		ClassBadRequest, ClassNotFound, ClassDenied, ClassConflict, ClassPrecondition,
		ClassRateLimited, ClassUnavailable, ClassTimeout, ClassCancelled, ClassTooLarge,
		ClassUnsupported, ClassCorrupt, ClassInternal,
	}
}

// Valid reports whether c is one of [Classes].
func (c Class) Valid() bool {
	switch c {
	case ClassBadRequest, ClassNotFound, ClassDenied, ClassConflict, ClassPrecondition,
		ClassRateLimited, ClassUnavailable, ClassTimeout, ClassCancelled, ClassTooLarge,
		ClassUnsupported, ClassCorrupt, ClassInternal:
		return true
	default:
		return false
	}
}
