import { checkDockerfile } from './dockerfile.ts';
import type { Weakness } from './found.ts';
import { checkKubernetes, mayBeKubernetes } from './kubernetes.ts';
import { checkShell } from './shell.ts';
import { checkTerraform } from './terraform.ts';

/**
 * Finds the weaknesses of one file of infrastructure. Pure.
 * @throws SyntaxError or RangeError for YAML that cannot be read
 */
export function checkInfrastructure(
  text: string,
  language: 'shell' | 'dockerfile' | 'terraform' | 'yaml',
): Weakness[] {
  switch (language) {
    case 'shell':
      return checkShell(text);
    case 'dockerfile':
      return checkDockerfile(text);
    case 'terraform':
      return checkTerraform(text);
    case 'yaml':
      return mayBeKubernetes(text) ? checkKubernetes(text) : [];
  }
}
