/** The words of the context menus that no button has. */
export const menuWords = {
  label: 'Context menu',
  quote: 'Quote in prompt',
  openLink: 'Open link',
  copyLink: 'Copy link address',
  openInEditor: 'Open in editor',
  copyPath: 'Copy path',
  copyCommand: 'Copy command',
  copyName: 'Copy name',
  expand: 'Expand',
  collapse: 'Collapse',
  showChanges: 'Show changes',
  copyTurnLink: 'Copy link to turn',
  view: 'View',
  remove: 'Remove',
  markViewed: 'Mark as viewed',
  markNotViewed: 'Mark as not viewed',
};
