import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Iterator;
import javax.activation.DataHandler;
import javax.activation.DataSource;
import javax.xml.namespace.QName;
import org.apache.axis.Message;
import org.apache.axis.attachments.AttachmentPart;
import org.apache.axis.attachments.Attachments;
import org.apache.axis.message.MessageElement;
import org.apache.axis.message.SOAPBodyElement;

/** The bare-part style of Axis 1.4: an empty transfer-information, and one part that nothing refers to. */
final class Part implements DataSource {
    static final String RANDOM = "http://schemas.ggf.org/byteio/2005/10/random-access";
    static final String MECHANISM = "http://schemas.ggf.org/byteio/2005/10/transfer-mechanisms/";

    private final byte[] bytes;

    private Part(byte[] bytes) {
        this.bytes = bytes;
    }

    /** Attach bytes to a message, by the mechanism `mtom` or `dime`. */
    static void attach(Message message, String mechanism, byte[] bytes) throws Exception {
        Attachments attachments = message.getAttachmentsImpl();
        attachments.setSendType(mechanism.equals("dime") ? Attachments.SEND_TYPE_DIME : Attachments.SEND_TYPE_MTOM);
        attachments.addAttachmentPart(new AttachmentPart(new DataHandler(new Part(bytes))));
    }

    /** An attachment of the right kind for a call. */
    static AttachmentPart of(byte[] bytes) {
        return new AttachmentPart(new DataHandler(new Part(bytes)));
    }

    /** The bytes of the only part. */
    static byte[] only(Message message) throws Exception {
        Iterator<?> parts = message.getAttachmentsImpl().getAttachments().iterator();
        InputStream in = ((AttachmentPart) parts.next()).getDataHandler().getInputStream();
        if (parts.hasNext()) {
            throw new IOException("more than one part");
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        byte[] piece = new byte[65536];
        int count;
        while ((count = in.read(piece)) > 0) {
            out.write(piece, 0, count);
        }
        in.close();
        return out.toByteArray();
    }

    /** A body element with fields and an empty transfer-information. */
    static SOAPBodyElement element(String name, String mechanism, String... fields) throws Exception {
        SOAPBodyElement body = new SOAPBodyElement(new QName(RANDOM, name));
        for (int at = 0; at < fields.length; at += 2) {
            MessageElement field = new MessageElement(new QName(RANDOM, fields[at]));
            field.addTextNode(fields[at + 1]);
            body.addChild(field);
        }
        MessageElement transfer = new MessageElement(new QName(RANDOM, "transfer-information"));
        transfer.addAttribute("", "transfer-mechanism", MECHANISM + mechanism);
        body.addChild(transfer);
        return body;
    }

    @Override
    public String getContentType() {
        return "application/octet-stream";
    }

    @Override
    public String getName() {
        return "data";
    }

    @Override
    public InputStream getInputStream() {
        return new ByteArrayInputStream(bytes);
    }

    @Override
    public OutputStream getOutputStream() throws IOException {
        throw new IOException("read only");
    }
}
