package vrf

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"
)

// vectors are examples 19 to 21 of RFC 9381, appendix B.4.
var vectors = []struct{ sk, pk, alpha, pi, beta string }{
	{
		"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
		"d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
		"",
		"7d9c633ffeee27349264cf5c667579fc583b4bda63ab71d001f89c10003ab46f14adf9a3cd8b8412d9038531e865c341cafa73589b023d14311c331a9ad15ff2fb37831e00f0acaa6d73bc9997b06501",
		"9d574bf9b8302ec0fc1e21c3ec5368269527b87b462ce36dab2d14ccf80c53cccf6758f058c5b1c856b116388152bbe509ee3b9ecfe63d93c3b4346c1fbc6c54",
	},
	{
		"4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
		"3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
		"72",
		"47b327393ff2dd81336f8a2ef10339112401253b3c714eeda879f12c509072ef055b48372bb82efbdce8e10c8cb9a2f9d60e93908f93df1623ad78a86a028d6bc064dbfc75a6a57379ef855dc6733801",
		"38561d6b77b71d30eb97a062168ae12b667ce5c28caccdf76bc88e093e4635987cd96814ce55b4689b3dd2947f80e59aac7b7675f8083865b46c89b2ce9cc735",
	},
	{
		"c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
		"fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
		"af82",
		"926e895d308f5e328e7aa159c06eddbe56d06846abf5d98c2512235eaa57fdce35b46edfc655bc828d44ad09d1150f31374e7ef73027e14760d42e77341fe05467bb286cc2c9d7fde29120a0b2320d04",
		"121b7f9b9aaaa29099fc04a94ba52784d44eac976dd1a3cca458733be5cd090a7b5fbd148444f17f8daf1fb55cb04b1ae85a626e30a54b4b0f8abf4a43314a58",
	},
}

func TestVectorsOfRFC9381(t *testing.T) {
	for i, v := range vectors {
		alpha, _ := hex.DecodeString(v.alpha)
		got, err := Eval(v.sk, alpha)
		if err != nil || got.PublicKey != v.pk || got.Proof != v.pi || got.Beta != v.beta {
			t.Errorf("example %d: %+v, %v", 19+i, got, err)
		}
		if beta, ok := Verify(v.pk, v.pi, alpha); !ok || beta != v.beta {
			t.Errorf("example %d does not verify: %s", 19+i, beta)
		}
		if _, ok := Verify(v.pk, v.pi, append(alpha, 0)); ok {
			t.Errorf("example %d verifies another input", 19+i)
		}
		if _, ok := Verify(vectors[(i+1)%3].pk, v.pi, alpha); ok {
			t.Errorf("example %d verifies with another key", 19+i)
		}
	}
}

func TestBadKeysAreNotRepeated(t *testing.T) {
	for _, key := range []string{"", "0x", "secret", strings.Repeat("g", 64), strings.Repeat("a", 62), strings.Repeat("a", 128)} {
		if _, err := Eval(key, nil); !errors.Is(err, ErrKey) || len(key) > 2 && strings.Contains(err.Error(), key) {
			t.Errorf("%q: %v", key, err)
		}
	}
}
