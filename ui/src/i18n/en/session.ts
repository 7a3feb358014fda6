/** What is done with a session as a whole: commands, context, editing, sharing, keeping. */
export const sessionWords = {
  commands: {
    new: 'Begin a new session',
    undo: 'Take the last turn back, files and words',
    redo: 'Bring back what was taken back',
    fork: 'Go on in a copy of this session',
    compact: 'Sum the session up now, to make room',
    snapshot: 'Keep the files as they are now, under a name',
    share: 'Share this session',
    unshare: 'Take back what was shared',
    export: 'Save this session as a file',
    import: 'Bring a session from a file',
    models: 'Pick a model',
    agents: 'Pick an agent',
    help: 'Show the keyboard shortcuts',
  },

  /** What a command takes after its name. */
  commandHints: {
    new: '[first words]',
    fork: '[first words]',
    snapshot: '[name]',
    agents: '[agent]',
  } as Readonly<Record<string, string | undefined>>,

  share: {
    title: 'Share session',
    open: 'Open',
    looking: 'Looking for what must not be shared…',
    becomesFile: (messages: number) =>
      `${messages === 1 ? 'One message becomes' : `${messages} messages become`} a page in a file that you choose. Nothing is sent anywhere.`,
    goesTo: (messages: number, server: string) =>
      `${messages === 1 ? 'One message is' : `${messages} messages are`} sent to ${server}. Whoever has the address can read them.`,
    leftOut: 'Left out',
    nothingLeftOut: 'No key, password or home folder was found in it. Look through it yourself all the same: not every secret can be recognised.',
    lookYourself: 'Look through it yourself all the same: not every secret can be recognised.',
    times: (count: number) => (count === 1 ? 'once' : `${count} times`),
    toFile: 'Save as a page…',
    toServer: 'Share',
    cancel: 'Cancel',
    isInFile: 'This session is shared as a page:',
    isOnServer: 'This session is shared at:',
    copyAddress: 'Copy the address',
    copyPath: 'Copy the path',
    aMoment: 'It shows the session as it was when it was shared.',
    again: 'Share anew…',
    takeBack: 'Remove it',
    done: 'Done',
    shared: 'This session is shared',
    never: 'This session is not shared',
    takenBack: 'What was shared has been removed',
  },

  transfer: {
    exported: 'The session was saved',
    openFile: 'Open',
    openSession: 'Open it',
    unreadable: (named: string, more: number) =>
      `Could not be read: ${named}${more === 0 ? '' : `, and ${more} more`}`,
  },

  fork: {
    menu: 'Fork',
    here: 'Fork from here',
    hereWorktree: 'Fork from here in a new git worktree',
    worksIn: 'The fork has a git worktree of its own',
  },

  snapshot: {
    title: 'Keep a snapshot',
    name: 'Name',
    placeholder: 'Before the rewrite',
    note: 'The files of the project are kept as they are now. The timeline shows it, and leads back to it.',
    keep: 'Keep',
    cancel: 'Cancel',
    kept: (name: string) => `The files are kept as “${name}”`,
    skipped: (count: number) =>
      count === 1 ? 'One file is not in it, see the timeline' : `${count} files are not in it, see the timeline`,
  },

  context: {
    title: 'Context and cost',
    button: (said: string, cost: string) => (cost === '' ? `Context: ${said}` : `Context: ${said}. Cost: ${cost}`),
    share: (percent: string) => `${percent} used`,
    unknown: (used: string) => `${used} tokens used`,
    used: 'Used',
    of: (used: string, limit: number) => (limit === 0 ? used : `${used} of ${limit.toLocaleString('en')}`),
    compactsAt: 'Summed up at',
    total: 'Tokens in all',
    tokens: (input: string, output: string) => `${input} in, ${output} out`,
    cached: 'Of these from cache',
    cost: 'Cost in all',
    costWithTasks: 'Cost, with its tasks',
    taskCost: (tasks: number) => (tasks === 1 ? 'Of this for a task' : `Of this for ${tasks} tasks`),
    free: 'nothing',
    notYet: 'known after the next step',
    compaction: (usable: string) =>
      `When ${usable} are used, the next step sums up first: all but the newest messages. Nothing is deleted.`,
    willCompact: 'It is full: the next step sums up first, all but the newest messages. Nothing is deleted.',
    full: 'It is full, and the config does not let Lathe sum up by itself.',
    noLimit: 'Nobody knows how much this model can hold.',
    sumUp: 'Sum up now',
    sumUpBusy: 'Not while the session is being worked on',
  },

  edit: {
    begin: 'Edit and send again',
    banner: 'Sending takes back everything from this prompt on, the files too.',
    bannerKeep: 'Sending takes back everything said from this prompt on. The files stay as they are.',
    keepFiles: 'Keep the files',
    cancel: 'Cancel',
    undone: 'The last turn was reverted',
    notUndone: 'The last turn was not reverted',
    partlyUndone: (files: number) =>
      files === 1 ? 'Only one file of the last turn was reverted' : `Only ${files} files of the last turn were reverted`,
    conflicts: (count: number) =>
      count === 1
        ? 'One file was changed since and stays as it is'
        : `${count} files were changed since and stay as they are`,
    redo: 'Bring it back',
    makeFinal: {
      title: 'Delete the reverted turns?',
      go: 'Delete and continue',
    },
    hidden: 'What came after this was taken back. The next prompt makes it final.',
  },
};
