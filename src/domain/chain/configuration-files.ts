export const FOLDER = '.github/countersign';
export const CHAINS_FOLDER = `${FOLDER}/chains`;
export const SKILLS_FOLDER = `${FOLDER}/skills`;
/** The cases of `chain test`. The app does not read them. */
export const CHAIN_TESTS = `${FOLDER}/tests`;
export const SETTINGS_FILE = '.github/countersign.yml';
/**
 * A likely misspelling. It is not read in addition to the correct name, because the two files could
 * contradict each other.
 */
export const MISNAMED_SETTINGS = '.github/countersign.yaml';
/** The repository with an organisation's configuration for all its repositories. */
export const ORGANISATION_REPOSITORY = '.github';

/** Whether the repository has that configuration. GitHub compares names without case. */
export function isOfOrganisation({ name }: { name: string }): boolean {
  return name.toLowerCase() === ORGANISATION_REPOSITORY;
}

/**
 * The folders for chains and skills in an organisation's `.github` repository, which also has its default
 * settings.
 */
export const ORGANISATION_CHAINS = 'countersign/chains';
export const ORGANISATION_SKILLS = 'countersign/skills';

/** In bytes: no larger file is a chain or settings. */
export const MAX_CONFIGURATION_BYTES = 65_536;

/** How many chain files of a folder are read. Each costs a request. */
export const MAX_CHAIN_FILES = 100;

/** Of the chain files of one folder, those that are not read: GitHub lists files by name. */
export function chainFilesBeyond(files: readonly string[]): string[] {
  return [...files].sort().slice(MAX_CHAIN_FILES);
}

const IS_YAML = /\.ya?ml$/;

/**
 * Whether chains are read from that path. Only files directly in the folder count, so that a file name is
 * unique.
 */
export function isChainFile(path: string, folder = CHAINS_FOLDER): boolean {
  return path.slice(0, path.lastIndexOf('/')) === folder && IS_YAML.test(path);
}

export type ConfigurationFile = 'settings' | 'misnamed settings' | 'chain' | 'misplaced chain';

/**
 * The role of a path in a repository, apart from skills. Misnamed and misplaced files are never read, but
 * their author must be notified. `undefined` for all other paths.
 */
export function configurationFile(path: string): ConfigurationFile | undefined {
  if (path === SETTINGS_FILE) return 'settings';
  if (path === MISNAMED_SETTINGS) return 'misnamed settings';
  if (isChainFile(path)) return 'chain';
  return path.startsWith(`${CHAINS_FOLDER}/`) && IS_YAML.test(path) ? 'misplaced chain' : undefined;
}
