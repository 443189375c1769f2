"""The kinds of jobs that this version can run."""

from collections.abc import Mapping

from notes.files.checksum_job import sum_files
from notes.jobs.job import JobKind
from notes.transfer import staging
from notes.transfer.import_job import run_import, run_preview
from notes.transfer.sources import PREVIEW

JOB_KINDS: Mapping[str, JobKind] = {
    "import": JobKind(run_import, staging.undo),
    PREVIEW: JobKind(run_preview, staging.undo),
    "sum-files": JobKind(sum_files),
}
