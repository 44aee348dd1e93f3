// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these strings are the files under review
import { beforeAll, describe, expect, test } from 'vitest';
import type { Finding } from '../../src/domain/outcome/finding.ts';
import { eachFirstQuick } from '../support/each-first-quick.ts';
import { added, placesOf, review } from './support.ts';

/** A file with its weaknesses, beside the same file corrected, which must stay silent. */
type Case = [what: string, path: string, weak: string, places: string[], corrected: string];

const SHELL: Case[] = [
  [
    'certificates of other machines that nobody checks, not those of the machine itself',
    'a.sh',
    'curl -sk https://localhost@a.example\ncurl -k https://localhost.a.example/\ncurl -k https://localhost https://a.example\n',
    ['medium tls-off:1', 'medium tls-off:2', 'medium tls-off:3'],
    'until curl -k -fsS https://localhost:8443/healthz >/dev/null; do sleep 1; done\ncurl --insecure \'https://127.0.0.1:9200/a\'\ncurl -sk "https://[::1]:${PORT}/b" | jq .\nwget --no-check-certificate https://localhost/c -O -\n',
  ],
  [
    'keys of other machines that nobody checks, not that of the machine itself',
    'a.sh',
    'ssh -o StrictHostKeyChecking=no -p 22 a.example ping 127.0.0.1\n',
    ['medium unchecked-host-key:1'],
    'ssh -o StrictHostKeyChecking=no -p 2222 vagrant@127.0.0.1 uptime\nssh -o "StrictHostKeyChecking no" -p 2222 localhost true\n',
  ],
  [
    'a parameter in what a host runs, not in its name',
    'a.sh',
    'ssh -p 22 "me@$1" "ls $2"\n',
    ['high command-from-argument:1'],
    'ssh -o BatchMode=yes "me@$1" "uptime"\nssh -p 22 me@"$1" uptime\n',
  ],
  [
    'eval of parameters, not of those that getopt has quoted',
    'a.sh',
    'eval set -- "$@"\n',
    ['high eval-of-input:1'],
    'eval set -- "$(getopt -o hv --long help -- "$@")"\n',
  ],
  [
    'a trace of a token, not of numbers and places about it',
    'a.sh',
    'set -ex\ncurl -H "a: $API_TOKEN" https://a.example\n',
    ['medium secret-traced:1'],
    'set -ex\nexport MAX_TOKENS=100\necho "$MAX_TOKENS $TOKEN_LIMIT $API_KEY_FILE ${SECRET_PATH}"\n',
  ],
  [
    'a fetched script that runs at once',
    'a.sh',
    'curl -fsSL https://a.example/x \\\n  | sudo bash -s\n',
    ['medium pipe-to-shell:1'],
    "curl -fsSLo x https://a.example/x\necho 'curl https://a.example | sh'\n# curl https://a.example | sh\n",
  ],
  [
    'a fetched script in a substitution',
    'a.sh',
    'bash -c "$(wget -qO- https://a.example/x)"\n. <(curl -s https://a.example/y)\n',
    ['medium pipe-to-shell:1', 'medium pipe-to-shell:2'],
    'version="$(curl -s https://a.example/version)"\n',
  ],
  [
    'certificates that nobody checks',
    'a.sh',
    'curl -sk https://a.example\nwget --no-check-certificate https://a.example\ngit config http.sslVerify false\n',
    ['medium tls-off:1', 'medium tls-off:2', 'medium tls-off:3'],
    'curl -s https://a.example -o k\ngit config http.sslVerify true\n',
  ],
  [
    'a host whose key nobody checks',
    'a.sh',
    'scp -o StrictHostKeyChecking=no a b:\n',
    ['medium unchecked-host-key:1'],
    'scp -o StrictHostKeyChecking=accept-new a b:\n',
  ],
  [
    'files that everybody may change',
    'a.sh',
    'chmod -R 777 /srv\n',
    ['medium world-writable:1'],
    'chmod -R 755 /srv\nchmod 1777 /tmp/x\n',
  ],
  [
    'eval of parameters, and of what somebody typed',
    'a.sh',
    'eval "$1"\nname=$2\neval "x=$name"\nread -r -p "What? " what\neval "$what"\n',
    ['high eval-of-input:1', 'high eval-of-input:3', 'high eval-of-input:5'],
    'eval "$(ssh-agent -s)"\nname=fixed\neval "x=$name"\neval "run \\"\\$@\\""\neval "$(printf %q "$1")"\n',
  ],
  [
    'a parameter in the command of another shell',
    'a.sh',
    'bash -c "ls $1"\nhost=$2\nssh a.example "ping $host"\n',
    ['high command-from-argument:1', 'high command-from-argument:3'],
    'bash -c \'ls "$1"\' _ "$1"\nssh "$2" uptime\n',
  ],
  [
    'a removal below a variable that can be empty',
    'a.sh',
    'out=$1\nrm -rf "$out/"*\nrm -fr $OTHER/lib\n',
    ['medium unguarded-removal:2', 'medium unguarded-removal:3'],
    'out=$1\n[ -n "$out" ] || exit 1\nrm -rf "$out/"*\nrm -fr ${OTHER:?}/lib\nwork=$(mktemp -d)\nrm -rf "$work/"\n',
  ],
  [
    'a removal below a variable that is never set',
    'a.sh',
    'set -e\nrm -rf "$ROOT/lib"\n',
    ['medium unguarded-removal:2'],
    'set -euo pipefail\nrm -rf "$ROOT/lib"\n',
  ],
  [
    'a removal below a variable that is set, but not by every script',
    'a.sh',
    'rm -rf "$WORK/x" "$CACHE/y"\n',
    ['medium unguarded-removal:1'],
    'rm -rf "$HOME/.cache/x" "$PWD/y"\nfor it in a b; do rm -rf "$it/lib"; done\n',
  ],
  [
    'a secret that is traced, beside a name that only resembles one',
    'a.sh',
    'set -x\ncurl -H "$API_TOKEN" https://a.example\n',
    ['medium secret-traced:1'],
    'set -x\npython3 train.py "$TOKENIZER"\n',
  ],
  [
    'temporary files whose name others know',
    'a.sh',
    'out=/tmp/a.$$\necho "$x" > /tmp/b.sh\nsh /tmp/b.sh\n',
    ['low predictable-temporary-file:1', 'low predictable-temporary-file:3'],
    'out=$(mktemp)\necho "$x" > /tmp/b.log\n',
  ],
  [
    'a trace that prints a secret',
    'a.sh',
    'set -ex\nmake\ncurl -u "a:$API_TOKEN" https://a.example\n',
    ['medium secret-traced:1'],
    'set -ex\nmake\nset +x\ncurl -u "a:$API_TOKEN" https://a.example\n',
  ],
  [
    'a here-document, which no command reads as code',
    'a.sh',
    'cat <<EOF\neval "$1"\nEOF\neval "$1"\n',
    ['high eval-of-input:4'],
    'cat <<-"END"\n\teval "$1"\n\tEND\n',
  ],
];

const DOCKERFILE: Case[] = [
  [
    'a secret, not a switch, a number or a place with such a name',
    'Dockerfile',
    'FROM a:1.2.3\nENV DB_PASSWORD=1234567\nENV JWT_SECRET=kestrel/orchid\nUSER a\n',
    ['medium secret-in-image:2', 'medium secret-in-image:3'],
    'FROM a:1.2.3\nARG USE_API_KEY=false\nENV MAX_TOKEN=5000 CSRF_TOKEN="true" SESSION_TOKEN=15m\nENV JWT_SECRET=/run/secrets/jwt ALLOW_EMPTY_PASSWORD=yes\nENV RANDOM_ROOT_PASSWORD 1\nENV DJANGO_SECRET_KEY=build-only\nUSER a\n',
  ],
  [
    'secrets in the arguments and variables of a build',
    'Dockerfile',
    'FROM a:1\nARG NPM_TOKEN\nENV API_KEY=$x DB_PASSWORD="$y" B=1\nENV GITHUB_TOKEN abc\n',
    ['medium secret-in-image:2', 'medium secret-in-image:4'],
    'FROM a:1\nARG TOKENIZER\nENV SECRET_FILE=/run/secrets/a PASSWORD_LENGTH=12\nRUN --mount=type=secret,id=a npm ci\n',
  ],
  [
    'a file that nobody compares',
    'Dockerfile',
    'FROM a:1\nADD https://a.example/x.tgz /opt/\n',
    ['low remote-add:2'],
    'FROM a:1\nADD --checksum=sha256:00 https://a.example/x.tgz /opt/\nADD x.tgz /opt/\n',
  ],
  [
    'an image that ends as root',
    'Dockerfile',
    'FROM a:1\nUSER app\nUSER root\nCMD ["a"]\n',
    ['medium runs-as-root:3'],
    'FROM a:1\nUSER root\nRUN a\nUSER app\nCMD ["a"]\n',
  ],
  [
    'commands of a build',
    'Dockerfile',
    'FROM a:1\nRUN a && \\\n  wget -qO- https://a.example | sh\nRUN apt-get install -y --allow-unauthenticated a\n',
    ['medium pipe-to-shell:3', 'medium unsigned-packages:4'],
    'FROM a:1\nRUN wget -q https://a.example | tee x\nRUN apt-get install -y a\n',
  ],
];

const TERRAFORM: Case[] = [
  [
    'public storage',
    'a.tf',
    'resource "aws_s3_bucket_acl" "a" {\n  acl = "public-read"\n}\nresource "aws_s3_bucket_public_access_block" "a" {\n  block_public_acls = false\n  ignore_public_acls = false\n}\n',
    ['high terraform-public-bucket:2', 'high terraform-public-bucket:5'],
    'resource "aws_s3_bucket_acl" "a" {\n  acl = "private" # not "public-read"\n  /*\n  acl = "public-read"\n  */\n}\n',
  ],
  [
    'ports of administration that everybody reaches',
    'a.tf',
    'resource "aws_security_group" "a" {\n  ingress {\n    from_port = 20\n    to_port = 30\n    cidr_blocks = [\n      "0.0.0.0/0",\n    ]\n  }\n}\nresource "google_compute_firewall" "a" {\n  allow {\n    ports = ["3389"]\n  }\n  source_ranges = ["0.0.0.0/0"]\n}\nresource "azurerm_network_security_rule" "a" {\n  direction = "Inbound"\n  access = "Allow"\n  destination_port_range = "*"\n  source_address_prefix = "Internet"\n}\n',
    ['high terraform-open-port:5', 'high terraform-open-port:14', 'high terraform-open-port:20'],
    'resource "aws_security_group" "a" {\n  ingress {\n    from_port = 443\n    to_port = 443\n    cidr_blocks = ["0.0.0.0/0"]\n  }\n  egress {\n    from_port = 0\n    to_port = 0\n    cidr_blocks = ["0.0.0.0/0"]\n  }\n  ingress {\n    from_port = 22\n    to_port = 22\n    cidr_blocks = ["10.0.0.0/8"]\n  }\n}\n',
  ],
  [
    'databases that are public, and data without encryption',
    'a.tf',
    'resource "aws_db_instance" "a" {\n  publicly_accessible = true\n  storage_encrypted   = false\n}\n',
    ['high terraform-public-database:2', 'medium terraform-unencrypted:3'],
    'resource "aws_db_instance" "a" {\n  publicly_accessible = false\n  storage_encrypted   = var.encrypted\n}\n',
  ],
  [
    'policies that allow everything',
    'a.tf',
    'resource "aws_iam_policy" "a" {\n  policy = jsonencode({\n    Statement = [{\n      Effect = "Allow"\n      Action = ["*"]\n      Resource = "*"\n    }]\n  })\n}\ndata "aws_iam_policy_document" "a" {\n  statement {\n    actions = ["*"]\n    resources = ["*"]\n  }\n}\n',
    ['high terraform-allows-everything:5', 'high terraform-allows-everything:12'],
    'resource "aws_iam_policy" "a" {\n  policy = jsonencode({\n    Statement = [{\n      Effect = "Deny"\n      Action = ["*"]\n      Resource = "*"\n    }, {\n      Effect = "Allow"\n      Action = ["s3:*"]\n      Resource = "*"\n    }]\n  })\n}\n',
  ],
  [
    'old versions of TLS, and metadata without a token',
    'a.tf',
    'resource "a" "a" {\n  min_tls_version = "TLS1_0"\n  metadata_options {\n    http_tokens = "optional"\n  }\n}\n',
    ['medium terraform-old-tls:2', 'medium terraform-old-metadata:4'],
    'resource "a" "a" {\n  min_tls_version = "TLS1_2"\n  metadata_options {\n    http_tokens = "required"\n  }\n}\n',
  ],
];

const KUBERNETES: Case[] = [
  [
    'folders of a host, not its clock and its authorities',
    'a.yaml',
    'apiVersion: v1\nkind: Pod\nspec:\n  volumes:\n    - hostPath: { path: /etc }\n    - hostPath: { path: /etc/ssl/private }\n    - hostPath: { path: /etc/ssl/certs/../private }\n    - hostPath: { path: /dev/sda }\n',
    [5, 6, 7, 8].map((line) => `high kubernetes-host-path:${line}`),
    'apiVersion: v1\nkind: Pod\nspec:\n  volumes:\n    - hostPath: { path: /etc/localtime, type: File }\n    - hostPath: { path: /etc/ssl/certs/ }\n    - hostPath: { path: /etc/machine-id }\n    - hostPath: { path: /run/log/journal }\n    - hostPath: { path: /dev/shm }\n',
  ],
  [
    'roles for everything in a group of Kubernetes, not in one of their own',
    'a.yaml',
    'apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nrules:\n  - apiGroups: [a.example, ""]\n    resources: ["*"]\n    verbs: ["*"]\n  - apiGroups: [rbac.authorization.k8s.io]\n    resources: ["*"]\n    verbs: ["*"]\n',
    ['high kubernetes-allows-everything:6', 'high kubernetes-allows-everything:9'],
    'apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nrules:\n  - apiGroups: [a.example]\n    resources: ["*"]\n    verbs: ["*"]\n',
  ],
  [
    'containers that reach their host',
    'a.yaml',
    'apiVersion: apps/v1\nkind: Deployment\nspec:\n  template:\n    spec:\n      hostPID: true\n      containers:\n        - image: a:latest\n          securityContext:\n            privileged: true\n            allowPrivilegeEscalation: true\n            runAsUser: 0\n            capabilities:\n              add: [NET_BIND_SERVICE, SYS_ADMIN]\n      volumes:\n        - hostPath: { path: /var/run/docker.sock }\n',
    [
      'high kubernetes-privileged:10',
      'high kubernetes-privileged:11',
      'high kubernetes-capability:14',
      'high kubernetes-host-path:16',
      'medium kubernetes-host-namespace:6',
      'medium kubernetes-root:12',
      'low kubernetes-latest-tag:8',
    ],
    'apiVersion: apps/v1\nkind: Deployment\nspec:\n  template:\n    spec:\n      hostPID: false\n      containers:\n        - image: a:1.2\n          securityContext:\n            privileged: false\n            runAsNonRoot: true\n            capabilities: { drop: [ALL], add: [NET_BIND_SERVICE] }\n      volumes:\n        - hostPath: { path: /mnt/data }\n',
  ],
  [
    'roles for everything, and everybody as administrator',
    'a.yml',
    'apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nrules:\n  - resources: ["*"]\n    verbs: ["*"]\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nroleRef: { name: cluster-admin }\nsubjects:\n  - name: "system:anonymous"\n',
    ['high kubernetes-allows-everything:5', 'high kubernetes-allows-everything:11'],
    'apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nrules:\n  - resources: ["pods"]\n    verbs: ["*"]\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nroleRef: { name: view }\nsubjects:\n  - name: "system:authenticated"\n',
  ],
  [
    'the same words in a resource, but not in other YAML or in a template',
    'a.yaml',
    'apiVersion: v1\nkind: Pod\nspec:\n  hostNetwork: true\n',
    ['medium kubernetes-host-namespace:4'],
    'web:\n  hostNetwork: true\n',
  ],
];

const ALL = [...SHELL, ...DOCKERFILE, ...TERRAFORM, ...KUBERNETES];

describe('our own rules for infrastructure', () => {
  let findings: Finding[];
  const pathOf = (index: number, what: 'weak' | 'corrected') => `deploy/${what}-${index}/${ALL[index]?.[1]}`;
  const placesIn = (path: string) =>
    placesOf(findings.filter(({ file }) => file === path)).map((place) =>
      place.replace('infrastructure/', ''),
    );

  beforeAll(async () => {
    const files = ALL.flatMap(([, , weak, , corrected], index) => [
      added(pathOf(index, 'weak'), weak),
      added(pathOf(index, 'corrected'), corrected),
    ]);
    const report = await review(files, { analyzers: ['infrastructure'] });
    expect(report.analyzers).toMatchObject([{ name: 'infrastructure', status: 'ok', files: files.length }]);
    findings = report.findings;
  });

  const numbered = ALL.map(([what, , , places], index) => ({ what, places, index }));

  test.each(numbered)('report $what', ({ places, index }) => {
    expect(placesIn(pathOf(index, 'weak'))).toEqual(places);
  });

  test.each(numbered)('are silent about the corrected form of $what', ({ index }) => {
    expect(placesIn(pathOf(index, 'corrected'))).toEqual([]);
  });
});

eachFirstQuick([
  ['no valid YAML', 'spec: [}'],
  ['nested a hundred thousand times', `spec: ${' [\n'.repeat(100_000)}`],
  ['made to take its parser long', '{{ x }}\n'.repeat(15_000)],
])('a file of Kubernetes that is %s is named, and the other files are analysed', async (_, rest) => {
  const files = [added('a.yaml', `apiVersion: v1\nkind: Pod\n${rest}\n`), added('b.sh', 'eval "$1"\n')];
  const { findings } = await review(files, { analyzers: ['secrets', 'infrastructure'] });
  expect(placesOf(findings).sort()).toEqual([
    'high infrastructure/eval-of-input:1',
    'medium infrastructure/not-analysed:1',
  ]);
});

test('a template of Kubernetes that is no YAML yet has no findings', async () => {
  const text =
    'apiVersion: v1\nkind: Pod\nspec:\n  {{- if .Values.host }}\n  hostNetwork: true\n  {{- end }}\n';
  const { findings } = await review([added('a.yaml', text)], { analyzers: ['secrets', 'infrastructure'] });
  expect(findings).toEqual([]);
});

test('files that are made to stall their patterns are analysed with the others', {
  tags: 'slow',
}, async () => {
  const files = [
    added('blank.sh', `${'\n'.repeat(300_000)}eval "$1"\n`),
    added('spaces.sh', `${`set${' '.repeat(1_000)}x\n`.repeat(500)}`),
    added('removals.sh', 'rm -rf "$A/"*\n'.repeat(20_000)),
    added('brackets.tf', 'a = [\n'.repeat(100_000)),
  ];
  const { analyzers, findings } = await review(files, { analyzers: ['infrastructure'] });
  expect(analyzers).toMatchObject([{ status: 'ok', files: 4 }]);
  expect(placesOf(findings)).toContain('high infrastructure/eval-of-input:300001');
});

test('a long definition of a resource of Kubernetes is no workload, and those beside it are analysed', {
  tags: 'slow',
}, async () => {
  const definition = `apiVersion: v1\nkind: CustomResourceDefinition\n${'# a\n'.repeat(30_000)}`;
  const text = `${definition}---\napiVersion: v1\nkind: Pod\nspec:\n  hostNetwork: true\n`;
  const { findings } = await review([added('a.yaml', text)], { analyzers: ['infrastructure'] });
  expect(placesOf(findings)).toEqual(['medium infrastructure/kubernetes-host-namespace:30007']);
});
