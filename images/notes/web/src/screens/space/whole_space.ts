/** A space as its managers get it, and what each part of its settings is given. */
import type { RoleName, Space } from "../../api/types";

/** All that the API has of a space. */
export interface WholeSpace extends Space {
  domain: string | null;
  domain_approved: boolean;
  site_enabled: boolean;
  public: boolean;
  everyone_role: RoleName;
}

export interface PartProps {
  space: WholeSpace;
  again: () => Promise<void>;
}
