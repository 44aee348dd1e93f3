/** What a file of infrastructure does that it should not. Lines count from 1. */
export interface Weakness {
  rule: InfrastructureRule;
  line: number;
  endLine?: number;
}

export type InfrastructureRule =
  | 'pipe-to-shell'
  | 'tls-off'
  | 'unchecked-host-key'
  | 'world-writable'
  | 'unsigned-packages'
  | 'eval-of-input'
  | 'command-from-argument'
  | 'unguarded-removal'
  | 'predictable-temporary-file'
  | 'secret-traced'
  | 'secret-in-image'
  | 'remote-add'
  | 'runs-as-root'
  | 'terraform-public-bucket'
  | 'terraform-open-port'
  | 'terraform-public-database'
  | 'terraform-unencrypted'
  | 'terraform-allows-everything'
  | 'terraform-old-tls'
  | 'terraform-old-metadata'
  | 'kubernetes-privileged'
  | 'kubernetes-root'
  | 'kubernetes-capability'
  | 'kubernetes-host-namespace'
  | 'kubernetes-host-path'
  | 'kubernetes-allows-everything'
  | 'kubernetes-latest-tag';
