"""The one door for files that come from outside: opened, bounded and parsed here, and nowhere else.

What leaves this room is text that UTF-8 can hold, and values no deeper, longer or larger than
`bears.files.intake.limits` allows; the caller checks their shape. Every refusal is a FormatError of
one sentence that names the file.
"""
