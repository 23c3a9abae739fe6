"""Files from outside are opened, bounded and parsed here, and nowhere else.

The results are texts that UTF-8 can hold, and values within bounds; the caller checks their shape.
Every refusal is a FormatError of one sentence that names the file.
"""
