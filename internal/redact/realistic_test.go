package redact

import (
	"strings"
	"testing"
)

// realisticLeaks are forms of credentials that were missed earlier: a value in a debug print, a connection
// string without a scheme, a flag of a well-known command, a name in another language. The percent sign
// is replaced by the secret, which looks like a word on purpose.
var realisticLeaks = []string{
	`Config { user: "app", password: Some("%"), port: 5432 }`, `Config { password: Some(\"%\") }`, `password: Ok("%")`, `token: Secret("%")`,
	`password: Optional("%")`, `password: Optional[%]`, `password = Just "%"`, `api_key: Some(%)`, `password: Some(SecretString("%"))`,
	"dial app:%@tcp(db:3306)/x failed", "dsn app:%@unix(/run/mysqld.sock)/x", "root:%@(localhost:3306)/db", "proxy bob:%@10.0.0.1:8080 refused",
	"sqlplus scott/%@//h:1521/x", "connect scott/%@db.example.com:1521/orcl", "sqlplus scott/%@orcl",
	"docker login -u bob -p % registry.example.com", "sshpass -p % ssh h", "sshpass -p '%' ssh h", "curl --user=bob:% https://x.example", "curl --user bob:% https://x.example",
	"redis-cli -h x -a % ping", "ldapsearch -w % -x", "smbclient //h/s -U bob%%", "az login -u x -p %", "http -a bob:% GET x",
	"CREATE USER 'a'@'%h' IDENTIFIED BY '%'", "GRANT ALL ON x TO y identified by \"%\"", "openssl rsa -passin pass:%", "mongosh -u a -p % x",
	"https://m.example/v1?ak=%&x=1", "https://m.example/v1?x=1&sk=%", "https://m.example/v1?sign=%", "https://m.example/v1?x=1&key=%", "https://m.example/?sig=%",
	"https://m.example/?access_token=%", "https://m.example/?auth=%", "https://m.example/?subscription-key=%",
	"ENOENT: no such file or directory, open '/srv/app/https:/bob:%@h.example/x'", "open https:/bob:%@h.example/x.git", "open 'https:\\bob:%@h.example\\x'",
	"contraseña: %", "Contraseña = %", "mot de passe : %", "mot de passe: %", "Mot de passe=%", "пароль: %", "Пароль: «%»",
	"ПАРОЛЬ=%", "密码：%", "密码: %", "密码=%", "口令：%", "パスワード：%", "비밀번호: %", "hasło: %", "parola: %", "wachtwoord: %", "lösenord: %", "şifre: %",
	"pw=%", "pw: %", `{"pw":"%"}`, "db_pw=%", `["--password","%"]`, `["--password", "%"]`,
}

func TestRealisticLeaksAreClosed(t *testing.T) {
	for _, secret := range []string{"zebra" + "crossing", "Zebra" + "4711crossing"} {
		for _, form := range realisticLeaks {
			s := strings.NewReplacer("%h", "%", "%%", "%"+secret, "%", secret).Replace(form)
			out := Text(s)
			if strings.Contains(out, "crossing") {
				t.Errorf("left in %q", out)
			}
			if Text(out) != out {
				t.Errorf("not stable: %q", out)
			}
		}
	}
}

// keptTexts look like a credential to a careless rule and must be kept.
var keptTexts = []string{
	"arn:aws:iam::123456789012:role/deploy", "arn:aws:secretsmanager:us-east-1:123456789012:secret:prod/db-AbCdEf",
	"not authorized to perform: secretsmanager:GetSecretValue on resource: arn:aws:secretsmanager:us-east-1:123456789012:secret:MySecret-a1b2c3",
	"arn:aws:kms:eu-west-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab", "arn:aws:sts::123456789012:assumed-role/a/b",
	"Lock-Token: <opaquelocktoken:a515cfa4-5da4-22e1-f5b5-00a0451e6bf7>", "opaquelocktoken:e71d4fae-5dec-22d6-fea5-00a0c91e6be4",
	"If: (<urn:uuid:181d4fae-7d8c-11d0-a765-00a0c91e6bf2>)", `{"lockToken":"opaquelocktoken:e71d4fae-5dec-22d6-fea5-00a0c91e6be4"}`,
	`{"errors":{"password":["is too short"]}}`, `{"errors":{"password":["is too short","is too common"]}}`, `{"password":["Password must contain a digit"]}`, `{"errors":{"password":["can't be blank"]}}`,
	"npm:lodash@4.17.21", "mailto:bob@example.com", "From:ann@example.com", "actions/checkout@v4", "@scope/pkg@1.2.3:", "git clone git@github.com:a/b.git", "registry.example.com:5000/img@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
	"password: Some(_)", "password: None", "token: Option<String>", "mkdir -p zebracrossing", "cp -a zebra crossing", "docker run -p 8080:80 img", "ls -a zebra", "grep -w zebracrossing file",
	"пароль неверный", "密码错误", "la contraseña no es válida", "mot de passe incorrect", "clave primaria: id", "contraseña: obligatoria", "密码：必填",
	"sign up", "https://m.example/?sign=asc", "https://m.example/?key=title&sort=asc", "IDENTIFIED BY the caller", `{"name":"password","value":null}`, `["username","password","email"]`,
	`{"name":"password","type":"string","value":"required"}`, "ak", "sk: 12", `{"en":"Hello","sk":"Ahoj svet"}`, `{"ak":"Twi"}`, "https:/example.com/x",
}

func TestKeptTextsStay(t *testing.T) {
	for _, s := range keptTexts {
		if got := Text(s); got != s {
			t.Errorf("Text(%q)\n = %q", s, got)
		}
	}
}
