"""The fields of a website's file: its image, and the number of its replicas."""

from typing import ClassVar, Literal

from pydantic import Field

from queenright.core.manifest.model import Part, Resource


class WebsiteSpec(Part):
    image: str = Field(description="The image that every replica runs.")
    replicas: int = Field(default=2, ge=1, le=4, description="How many run at a time.")
    deletion_policy: Literal["retain", "remove"] = Field(
        default="retain", description="What happens when this document is removed."
    )


class Website(Resource):
    """A site that swarm runs, and nothing else."""

    KIND: ClassVar[str] = "Website"

    api_version: Literal["queenright/v1alpha1"] = Field(description="Version of the form.")
    kind: Literal["Website"] = Field(description="Kind of document.")
    spec: WebsiteSpec = Field(description="What is wanted.")
