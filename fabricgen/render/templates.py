"""The templates and their errors. A folder of the user overlays single templates; all run in Jinja's sandbox."""

import re
import traceback
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from types import CodeType

import jinja2
from jinja2.bccache import Bucket
from jinja2.sandbox import ImmutableSandboxedEnvironment

from fabricgen.errors import FabricgenError, UnreadableInputError
from fabricgen.extensions import FILTERS, extensions
from fabricgen.findings import Finding, Location, Severity
from fabricgen.inputs import read_bytes
from fabricgen.render.forms import Form, NotRowsError, OriginMarks, SlotTestedError, Tables
from fabricgen.render.sandbox import LimitedEnvironment
from fabricgen.resources import resource

# What a template's own expressions may raise beside Jinja's errors.
_MISTAKES = (SlotTestedError, TypeError, ValueError, ArithmeticError, LookupError, AttributeError, RecursionError)
_NO_ATTRIBUTE = re.compile(r"'fabricgen\.[\w.]+\.([A-Z][a-z]+)\w* object' has no attribute '(\w+)'")


class TemplateProblemError(FabricgenError):
    """A template that cannot be used; carries the finding."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding)  # also what it is rebuilt from when it comes from another process
        self.finding = finding

    def __str__(self) -> str:
        return self.finding.message


class _Compiled(jinja2.BytecodeCache):
    """The compiled templates of this process, by name, file and text: compiling takes longer than expanding, and
    `compare`, `check --watch` and an editor render many times."""

    def __init__(self) -> None:
        self._codes: dict[tuple[str, str], CodeType] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._codes.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        if bucket.code:
            self._codes[bucket.key, bucket.checksum] = bucket.code


_COMPILED = _Compiled()


@lru_cache(maxsize=256)
def _form(template: str, text: str) -> Form:
    """The form of an expansion: equal texts have equal forms, in each rendering of this process."""
    return Form(template, text)


class _SiteTemplates(jinja2.FileSystemLoader):
    """Templates of a site. Every file that is looked for counts as an input, so that a result of earlier is found again
    only if none of them was changed, and none was added."""

    def get_source(self, environment: jinja2.Environment, template: str) -> tuple[str, str, Callable[[], bool]]:
        for folder in self.searchpath:
            with suppress(UnreadableInputError):
                read_bytes(Path(folder, *jinja2.loaders.split_template_path(template)))
        return super().get_source(environment, template)


class TemplateLibrary:
    """Templates of one room, expanded on demand and once for each context.

    Every expansion that was made stays in `forms`, in order of first use: the source map refers to them by index.
    """

    def __init__(self, folder: str, overlay: Path | None = None, marks: OriginMarks | None = None) -> None:
        shipped = resource("templates", folder)
        paths = [overlay / folder, overlay] if overlay else []
        self.marks = marks or OriginMarks()
        self.forms: list[Form] = []
        self._index: dict[Hashable, int] = {}
        # Templates of fabricgen are not limited: the files of a large subnet take more steps.
        self._environment = (LimitedEnvironment if overlay else ImmutableSandboxedEnvironment)(
            loader=jinja2.ChoiceLoader([*([_SiteTemplates(paths)] if paths else []), jinja2.FileSystemLoader(shipped)]),
            bytecode_cache=None if overlay else _COMPILED,
            undefined=jinja2.StrictUndefined,
            finalize=self.marks.finalize,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
        )
        self._environment.filters.update(extensions(FILTERS))

    def form(self, template: str, context: Mapping[str, Hashable], device: str) -> int:
        """Index of the form of a template for a context. Raises TemplateProblemError with the device it was for.

        Equal contexts have one form: they are its key, so a form cannot contain a value of another context.
        """
        key = template, *context.items()
        if key not in self._index:
            self.forms.append(self._expand(template, context, device))
            self._index[key] = len(self.forms) - 1
        return self._index[key]

    def stamp(self, index: int, tables: Tables, slots: Mapping[str, str], device: str) -> None:
        """Stamp a form; raises TemplateProblemError where two templates disagree about a row."""
        form = self.forms[index]
        try:
            form.stamp(tables, slots)
        except NotRowsError as error:
            raise _problem(f"the templates disagree: {error}", self._file(form.template), device) from error
        except KeyError as error:
            message = f"unknown blank {error}: a filter has changed a blank; print it unchanged"
            raise _problem(message, self._file(form.template), device) from error

    def _expand(self, template: str, context: Mapping[str, object], device: str) -> Form:
        try:
            return _form(template, self.text(template, context, device))
        except NotRowsError as error:
            raise _problem(f"the template renders {error}", self._file(template), device) from error

    def text(self, template: str, context: Mapping[str, object], device: str) -> str:
        """The output of a template, with the marks of slots and origins. Raises TemplateProblemError."""
        try:
            if isinstance(self._environment, LimitedEnvironment):
                self._environment.begin()
            return self._environment.get_template(template).render(context)
        except UnicodeDecodeError as error:
            raise _problem("template error: not UTF-8 text", Location(template), device) from error
        except jinja2.TemplateSyntaxError as error:
            place = Location(error.filename or template, error.lineno)
            raise _problem(f"template error: {error.message}", place, device) from error
        except jinja2.TemplateNotFound as error:
            raise _problem(f"no template {error.name}", Location(template), device) from error
        except (jinja2.TemplateError, *_MISTAKES) as error:
            raise _problem(f"template error: {_problem_text(error)}", _place(error, template), device) from error

    def refuse(self, template: str, problem: str, device: str) -> TemplateProblemError:
        """The error of a template whose text cannot be used."""
        return _problem(f"the template renders {problem}", self._file(template), device)

    def _file(self, template: str) -> Location:
        return Location(self._environment.get_template(template).filename or template)


def _problem_text(error: BaseException) -> str:
    """The text of an error, with the names that templates use for objects: 'the switch has no nme'."""
    return _NO_ATTRIBUTE.sub(lambda match: f"the {match[1].lower()} has no {match[2]}", str(error))


def _place(error: BaseException, template: str) -> Location:
    """The innermost template line that an exception went through."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename.endswith(".j2"):
            return Location(frame.filename, frame.lineno or 0)
    return Location(template)


def _problem(message: str, place: Location, device: str) -> TemplateProblemError:
    hint = "docs/templates.md lists what a template may use"
    return TemplateProblemError(
        Finding(
            "FG150", Severity.ERROR, f"{message} (first needed for {device})", device=device, location=place, hint=hint
        )
    )
