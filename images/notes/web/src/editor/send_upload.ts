/** What sends a file, fetched with the first one: most who open the editor add none. */
export { keepAccepted } from "../sync/accepted_files";
export { FileUpload } from "../sync/upload";
export { wire } from "./upload_wire";
