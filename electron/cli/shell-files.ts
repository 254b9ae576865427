// What a shell has to know of the command line: completions for bash, zsh and fish, and the manual page. All of it is made
// from the declarations that parse the arguments, so that none of it can name what is not there.

import { commonOptions, type Command, type OptionDef } from './command.ts';

type Options = readonly (readonly [name: string, option: OptionDef])[];

const optionsOf = (command: Command): Options => Object.entries({ ...command.options, ...commonOptions });

/** The values of an option that have names: `adam|sgd`, presets. Capitals stand for something else: `best|last|EPOCH`. */
export function choicesOf({ value, names }: OptionDef): readonly string[] {
  if (names) return names;
  const words = value?.split('|') ?? [];
  return words.length > 1 ? words.filter((word) => /^[a-z][a-z0-9_-]*$/.test(word)) : [];
}

/** What a command does with what follows, where its usage names it: `move RUN | pause`. Capitals stand for something else. */
export const actionsOf = ({ usage }: Command): readonly string[] => usage.match(/\b[a-z][a-z-]*\b/g) ?? [];

const namesFile = (text: string): boolean => /FILE|PATH|FOLDER/.test(text);
const takesFile = (option: OptionDef): boolean => option.path === true || namesFile(option.value ?? '');

/** Whether what follows a command may be a file. */
const followedByFile = ({ usage }: Command): boolean => namesFile(usage);

export function bashCompletion(commands: readonly Command[]): string {
  const cases = commands.map((command) => {
    const { name } = command;
    const options = optionsOf(command);
    const values = options.flatMap(([option, definition]) => {
      const choices = choicesOf(definition);
      const words = choices.length > 0 ? [`words='${choices.join(' ')}'`] : [];
      const files = takesFile(definition) ? ['files=1'] : [];
      if (definition.type === 'boolean') return [];
      return [`        --${option}) ${[...words, ...files].join(' ') || 'return'} ;;`];
    });
    const actions = actionsOf(command).join(' ');
    return [
      `    ${name})`,
      '      case "$previous" in',
      ...values,
      '        *)',
      `          if [[ $current == -* ]]; then words='${options.map(([option]) => `--${option}`).join(' ')}'`,
      ...(actions === '' ? [] : [`          elif [[ $COMP_CWORD -eq 2 ]]; then words='${actions}'`]),
      ...(followedByFile(command) ? ['          else files=1'] : []),
      '          fi ;;',
      '      esac',
      '      ;;',
    ].join('\n');
  });
  return `# Completions of trainyard for bash, made by \`trainyard completions bash\`.
_trainyard() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} words= files=
  COMPREPLY=()
  # To bash --model=small is three words.
  [[ $current == = ]] && current=
  [[ $previous == = ]] && previous=\${COMP_WORDS[COMP_CWORD-2]}
  if [[ $COMP_CWORD -eq 1 ]]; then
    COMPREPLY=($(compgen -W '${commands.map(({ name }) => name).join(' ')} --help --version' -- "$current"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
  esac
  [[ -n $words ]] && COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [[ -n $files ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t -O \${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$current")
  fi
}
complete -F _trainyard trainyard
`;
}

/** Within single quotes of a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

export function zshCompletion(commands: readonly Command[]): string {
  /** Within the brackets of a specification. */
  const plain = (text: string): string => text.replace(/[[\]\\]/g, '\\$&').replaceAll(':', '\\:');
  const specification = ([name, option]: Options[number]): string => {
    const words = `${option.multiple ? '*' : ''}--${name}[${plain(option.help)}]`;
    if (option.type === 'boolean') return quoted(words);
    const choices = choicesOf(option);
    const files = takesFile(option);
    const action =
      choices.length > 0
        ? files
          ? `_trainyard_names_or_files ${choices.join(' ')}`
          : `(${choices.join(' ')})`
        : files
          ? '_files'
          : ' ';
    return quoted(`${words}:${plain(option.value ?? name)}:${action}`);
  };
  const cases = commands.map((command) => {
    const words = actionsOf(command).join(' ');
    const actions = words === '' ? [] : [quoted(`1:action:(${words})`)];
    const files = followedByFile(command) ? [quoted('*:file:_files')] : [];
    const lines = [...optionsOf(command).map(specification), ...actions, ...files];
    return `    ${command.name})\n      _arguments \\\n${lines.map((line) => `        ${line}`).join(' \\\n')}\n      ;;`;
  });
  const names = commands.map(({ name, summary }) => `    ${quoted(`${name}:${summary}`)}`);
  return `#compdef trainyard
# Completions of trainyard for zsh, made by \`trainyard completions zsh\`.
_trainyard_names_or_files() {
  compadd "$@"
  _files
}
_trainyard() {
  local -a commands
  commands=(
${names.join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  shift words
  (( CURRENT-- ))
  case "$words[1]" in
${cases.join('\n')}
  esac
}
_trainyard "$@"
`;
}

export function fishCompletion(commands: readonly Command[]): string {
  const lines = commands.flatMap((command) => {
    const complete = (when: string, what: string, help: string): string =>
      `complete -c trainyard -n ${fishQuoted(when)} ${what} -d ${fishQuoted(help)}`;
    const actions = actionsOf(command);
    const taken = ([name, option]: Options[number]): string => {
      const choices = choicesOf(option);
      if (option.type === 'boolean') return `-l ${name}`;
      const words = choices.length > 0 ? ` -a ${fishQuoted(choices.join(' '))}` : '';
      return `-l ${name} ${takesFile(option) ? '-r -F' : '-x'}${words}`;
    };
    return [
      complete('__fish_use_subcommand', `-f -a ${command.name}`, command.summary),
      ...(actions.length > 0
        ? [complete(`__trainyard_at ${command.name} 2`, `-f -a ${fishQuoted(actions.join(' '))}`, command.summary)]
        : []),
      ...(followedByFile(command) ? [] : [complete(`__trainyard_at ${command.name}`, '-f', command.summary)]),
      ...optionsOf(command).map((option) => complete(`__trainyard_at ${command.name}`, taken(option), option[1].help)),
    ];
  });
  return `# Completions of trainyard for fish, made by \`trainyard completions fish\`.
# Which command it is, and how many words stand there where that is asked: a run named like a command is none.
function __trainyard_at
    set --local words (commandline -opc)
    test (count $words) -ge 2; and test "$words[2]" = $argv[1]; or return 1
    test (count $argv) -lt 2; or test (count $words) -eq $argv[2]
end
${lines.join('\n')}
`;
}

const fishQuoted = (text: string): string => `'${text.replace(/['\\]/g, '\\$&')}'`;

/** The manual page, section 1, in the language of man(7). */
export function manualPage(commands: readonly Command[], version: string): string {
  const sections = commands.map((command) => {
    const options = optionsOf(command).flatMap(([name, option]) => [
      '.TP',
      `\\fB\\-\\-${roff(name)}\\fR${option.value ? ` \\fI${roff(option.value)}\\fR` : ''}`,
      line(option.help),
    ]);
    const usage = command.usage === '' ? '' : ` ${roff(command.usage)}`;
    return [`.SS \\fBtrainyard ${roff(command.name)}\\fR${usage}`, line(command.summary), ...options].join('\n');
  });
  return `.TH TRAINYARD 1 "" "Trainyard ${roff(version)}" "User Commands"
.SH NAME
trainyard \\- train neural networks on this machine, offline
.SH SYNOPSIS
.B trainyard
\\fICOMMAND\\fR [\\fIoptions\\fR]
.SH DESCRIPTION
The command line of Trainyard. It shares its runs with the window: both keep them in \\fBTRAINYARD_HOME\\fR.
.SH COMMANDS
${sections.join('\n')}
.SH EXIT STATUS
.TP
0
done
.TP
2
bad input or usage
.TP
1
anything else
.TP
3
of \\fBcheck\\fR: there is something to fix before a run
.TP
130, 143, 129
ended by SIGINT, SIGTERM or SIGHUP before there was a result
.TP
141
whoever read standard output has gone
.SH ENVIRONMENT
.TP
.B TRAINYARD_HOME
the folder with all runs; default: the data folder of the app
`;
}

const roff = (text: string): string => text.replaceAll('\\', '\\e').replaceAll('-', '\\-');

/** A line of text: one that begins with a dot or an apostrophe would be a request. */
const line = (text: string): string => roff(text).replace(/^(?=[.'])/, '\\&');
