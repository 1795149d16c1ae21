// Command prngdll writes bcryptprimitives.dll, which Go programs need on Windows and which Wine 8 does not have. The
// library has no code: its one export is forwarded to the random generator of advapi32.dll, which takes the same
// arguments.
//
//	go run ./internal/testing/prngdll PREFIX/drive_c/windows/system32/bcryptprimitives.dll
package main

import (
	"bytes"
	"debug/pe"
	"encoding/binary"
	"log"
	"os"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: prngdll FILE")
	}
	if err := os.WriteFile(os.Args[1], library("bcryptprimitives.dll", "ProcessPrng", "advapi32.SystemFunction036"), 0o600); err != nil {
		log.Fatal(err)
	}
}

const (
	fileAlign = 0x200  // where the section begins in the file
	imageBase = 0x1000 // where the section begins in memory
)

// exports is an IMAGE_EXPORT_DIRECTORY.
type exports struct {
	Characteristics, Time               uint32
	Major, Minor                        uint16
	Name, Base, Functions, Names        uint32
	AddressOf, AddressOfNames, Ordinals uint32
}

// library returns a 64-bit library with one export, which the loader resolves to the function named by forward.
func library(name, export, forward string) []byte {
	section, size := exportSection(name, export, forward)
	machine := uint16(pe.IMAGE_FILE_MACHINE_AMD64)
	var b bytes.Buffer
	put := func(values ...any) {
		for _, v := range values {
			_ = binary.Write(&b, binary.LittleEndian, v) // a buffer accepts every value of fixed size
		}
	}
	b.WriteString("MZ")
	b.Write(make([]byte, 58))
	put(uint32(64), []byte("PE\x00\x00"))
	put(pe.FileHeader{
		Machine: machine, NumberOfSections: 1, SizeOfOptionalHeader: uint16(binary.Size(pe.OptionalHeader64{})), //nolint:gosec // 240
		Characteristics: pe.IMAGE_FILE_EXECUTABLE_IMAGE | pe.IMAGE_FILE_LARGE_ADDRESS_AWARE | pe.IMAGE_FILE_DLL,
	})
	put(pe.OptionalHeader64{
		Magic: 0x20b, SizeOfInitializedData: fileAlign, ImageBase: 0x180000000, SectionAlignment: imageBase, FileAlignment: fileAlign,
		MajorOperatingSystemVersion: 6, MajorSubsystemVersion: 6, SizeOfImage: 2 * imageBase, SizeOfHeaders: fileAlign,
		Subsystem: pe.IMAGE_SUBSYSTEM_WINDOWS_CUI, DllCharacteristics: pe.IMAGE_DLLCHARACTERISTICS_NX_COMPAT,
		NumberOfRvaAndSizes: 16, DataDirectory: [16]pe.DataDirectory{{VirtualAddress: imageBase, Size: size}},
	})
	put(pe.SectionHeader32{
		Name: [8]uint8{'.', 'r', 'd', 'a', 't', 'a'}, VirtualSize: fileAlign, VirtualAddress: imageBase, SizeOfRawData: fileAlign,
		PointerToRawData: fileAlign, Characteristics: pe.IMAGE_SCN_CNT_INITIALIZED_DATA | pe.IMAGE_SCN_MEM_READ,
	})
	b.Write(make([]byte, fileAlign-b.Len()))
	b.Write(section)
	b.Write(make([]byte, 2*fileAlign-b.Len()))
	return b.Bytes()
}

// exportSection returns the content of the section, and its length: the directory, its three tables of one element each, and the texts.
func exportSection(name, export, forward string) (content []byte, size uint32) {
	table := uint32(imageBase + binary.Size(exports{})) //nolint:gosec // small
	names := table + 4
	ordinals := names + 4
	texts := ordinals + 2
	exportAt := texts + uint32(len(name)) + 1       //nolint:gosec // a short name
	forwardAt := exportAt + uint32(len(export)) + 1 //nolint:gosec // a short name
	var b bytes.Buffer
	for _, v := range []any{
		exports{Name: texts, Base: 1, Functions: 1, Names: 1, AddressOf: table, AddressOfNames: names, Ordinals: ordinals},
		forwardAt, exportAt, uint16(0), []byte(name + "\x00" + export + "\x00" + forward + "\x00"),
	} {
		_ = binary.Write(&b, binary.LittleEndian, v) // a buffer accepts every value of fixed size
	}
	return b.Bytes(), uint32(b.Len()) //nolint:gosec // a few hundred bytes
}
