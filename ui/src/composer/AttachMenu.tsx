import FileText from 'lucide-solid/icons/file-text';
import Folder from 'lucide-solid/icons/folder';
import Paperclip from 'lucide-solid/icons/paperclip';
import { en } from '../i18n/en';
import { Menu } from '../kit/Menu';
import { useApp } from '../store/context';

/** Files and folders are picked in different dialogs on every platform. */
export function AttachMenu() {
  const app = useApp();
  return (
    <Menu
      label={en.attach.add}
      class="composer-attach"
      items={[
        { label: en.attach.files, icon: FileText, run: () => void app.attachments.pick(false) },
        { label: en.attach.folders, icon: Folder, run: () => void app.attachments.pick(true) },
      ]}
    >
      <Paperclip size={15} aria-hidden="true" />
    </Menu>
  );
}
